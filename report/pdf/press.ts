// From content to the bytes of a PDF/A-3b: layout, the visual order of each line, pages, metadata, the attachment.

import type { CustomTableLayout, StyleDictionary } from 'pdfmake/interfaces.js'
import { ink } from '../charts/colours.js'
import {
  type Block,
  type Document,
  DocumentOfPdfmake,
  type EmbeddedFont,
  type Info,
  type PageContent,
  PdfLayoutBuilder,
  PdfRenderer,
  SvgMeasure,
} from './engine.js'
import { fontFiles, isFontFile } from './fonts.js'
import { orderPages } from './line-order.js'
import { withoutMarks } from './runs.js'
import { margins } from './style.js'

export interface Sheet {
  readonly content: readonly Block[]
  readonly header: PageContent
  readonly footer: PageContent
  readonly styles: StyleDictionary
  readonly layouts: Readonly<Record<string, CustomTableLayout>>
  readonly margins: { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number }
}

/** A4 in points. */
export const pageSize = { width: 595.28, height: 841.89, orientation: 'portrait' } as const

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (value: string | Date) =>
  typeof value === 'string' ? value.replace(/[&<>"]/g, (character) => escapes[character] ?? character) : value

class ReportDocument extends DocumentOfPdfmake {
  readonly #distinct = new Set<EmbeddedFont>()

  override provideFont(family: string, bold: boolean, italics: boolean): EmbeddedFont {
    const font = super.provideFont(family, bold, italics)
    if (!this.#distinct.has(font)) separateGlyphs(font)
    this.#distinct.add(font)
    return font
  }

  /** pdfkit writes titles into XML as they are. */
  override _addInfo(): void {
    const raw = this.info
    this.info = Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, escaped(value)]))
    super._addInfo()
    this.info = raw
  }
}

/**
 * Measures text without the marks where it may break, and gives a glyph that shows two characters (a Latin and a Cyrillic A) two
 * places in the subset, so that extracted text has the character that was meant.
 */
function separateGlyphs(font: EmbeddedFont): void {
  const width = font.widthOfString.bind(font)
  font.widthOfString = (text, size, features) => width(withoutMarks(text), size, features)
  const places = new Map<string, number>()
  const placeOf = (id: number, characters: string) => {
    const first = font.subset.includeGlyph(id)
    if ((font.unicode[first] ?? characters).toString() === characters) return first
    return font.subset.glyphs.push(id) - 1
  }
  font.encode = (text, features) => {
    const { glyphs, positions } = font.layout(text, features)
    const codes = glyphs.map((glyph) => {
      const characters = glyph.codePoints.toString()
      const key = `${glyph.id}:${characters}`
      const place = places.get(key) ?? placeOf(glyph.id, characters)
      places.set(key, place)
      font.widths[place] ??= glyph.advanceWidth * font.scale
      font.unicode[place] ??= glyph.codePoints
      return place.toString(16).padStart(4, '0')
    })
    return [codes, positions]
  }
}

class ReportLayout extends PdfLayoutBuilder {
  /** Starts a page early when a heading and what belongs to it would not fit. */
  override processNode(node: Block, isAligned?: boolean): void {
    const { needs } = node
    if (typeof needs === 'number') this.#makeRoom(node, needs)
    super.processNode(node, isAligned)
  }

  /** A heading at the top of a page has no space above it. */
  #makeRoom({ _margin: margin }: Block, needs: number): void {
    if (this.writer.context().availableHeight < needs) this.writer.moveToNextPage()
    const isTop = this.writer.context().y <= margins.top
    if (isTop && Array.isArray(margin)) margin[1] = 0
  }
}

/** A document without pages; its id follows from `info`, so that equal reports have equal bytes. */
export function openDocument(info: Info, language: string): Document {
  const options = {
    pdfVersion: '1.7',
    subset: 'PDF/A-3b',
    displayTitle: true,
    compress: true,
    lang: language,
    autoFirstPage: false,
    font: null,
    info,
  }
  return new ReportDocument(fontFiles, {}, {}, {}, options, null, isFontFile)
}

/** Lays the sheet out and writes it. The document is finished afterwards. */
export async function print(document: Document, sheet: Sheet): Promise<Uint8Array> {
  const builder = new ReportLayout(pageSize, sheet.margins, new SvgMeasure())
  builder.registerTableLayouts(sheet.layouts)
  const { content, styles, header, footer } = sheet
  const base = { font: 'Roboto', fontSize: 9.5, lineHeight: 1.25, color: ink }
  const nothing = undefined
  const pages = builder.layoutDocument(content, document, styles, base, nothing, header, footer, nothing, nothing)
  orderPages(pages)
  new PdfRenderer(document).renderPages(pages)
  const bytes = collect(document)
  document.end()
  return bytes
}

async function collect(document: Document): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of document) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
