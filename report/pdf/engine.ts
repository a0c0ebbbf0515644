// The parts of pdfmake that a report needs, put together without its loader of images, fonts and files from addresses: nothing here
// can open a connection. pdfmake is pinned to one version, because these parts are not its public interface.
import { createRequire } from 'node:module'
import type { CustomTableLayout, StyleDictionary } from 'pdfmake/interfaces.js'

const load = createRequire(import.meta.url)

/** A piece of a line: a word, or a part of it. */
export interface Inline {
  text: string
  x: number
  width: number
  /** The embedding level of Unicode's bidirectional algorithm; odd is right to left. */
  level?: number
}

/** A node of pdfmake: text, table, stack, columns or drawing. pdfmake writes into it, so each is used once. */
export type Block = Readonly<Record<string, unknown>>

interface Item {
  readonly type: string
  readonly item: unknown
}

export interface Page {
  readonly items: readonly Item[]
}

interface Glyph {
  readonly id: number
  readonly advanceWidth: number
  readonly codePoints: readonly number[]
}

/** A font that is embedded as a subset. */
export interface EmbeddedFont {
  readonly font: { hasGlyphForCodePoint(codePoint: number): boolean }
  readonly scale: number
  readonly subset: { readonly glyphs: number[]; includeGlyph(id: number): number }
  readonly widths: (number | undefined)[]
  readonly unicode: (readonly number[] | undefined)[]
  layout(text: string, features?: unknown): { readonly glyphs: readonly Glyph[]; readonly positions: unknown }
  encode(text: string, features?: unknown): [string[], unknown]
  widthOfString(text: string, size: number, features?: unknown): number
}

export interface Info {
  readonly [key: string]: string | Date
}

/** pdfkit's document, as pdfmake extends it. */
export interface Document extends NodeJS.ReadableStream {
  info: Info
  provideFont(family: string, bold: boolean, italics: boolean): EmbeddedFont
  file(bytes: Buffer, options: Readonly<Record<string, unknown>>): void
  /** Writes titles into the XMP metadata. */
  _addInfo(): void
  end(): void
}

type DocumentClass = new (
  fonts: FontFiles,
  images: object,
  patterns: object,
  attachments: object,
  options: object,
  files: null,
  mayRead: (path: string) => boolean,
) => Document

export type FontFiles = Readonly<Record<string, Readonly<Record<string, string>>>>

interface LayoutBuilder {
  readonly writer: { context(): { readonly availableHeight: number; readonly y: number }; moveToNextPage(): void }
  processNode(node: Block, isAligned?: boolean): void
  registerTableLayouts(layouts: Readonly<Record<string, CustomTableLayout>>): void
  layoutDocument(
    content: readonly Block[],
    document: Document,
    styles: StyleDictionary,
    defaultStyle: object,
    background: undefined,
    header: PageContent,
    footer: PageContent,
    watermark: undefined,
    mustBreakBefore: undefined,
  ): Page[]
}

/** A part that repeats on each page; pages count from 1. */
export type PageContent = (page: number, pages: number) => Block | null

const part = <T>(name: string): T => (load(`pdfmake/js/${name}.js`) as { readonly default: T }).default

export const DocumentOfPdfmake = part<DocumentClass>('PDFDocument')
export const PdfLayoutBuilder =
  part<new (size: object, margins: object, svg: unknown) => LayoutBuilder>('LayoutBuilder')
export const PdfRenderer = part<new (document: Document) => { renderPages(pages: readonly Page[]): void }>('Renderer')
export const SvgMeasure = part<new () => unknown>('SVGMeasure')
