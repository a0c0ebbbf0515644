// The fonts of a report. The first one is for prose, the others have the characters that it lacks; long ids have a face of their own.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Document, FontFiles } from './engine.js'

const { resolve } = createRequire(import.meta.url)
const roboto = join(dirname(resolve('pdfmake/package.json')), 'fonts/Roboto')
const dejavu = join(dirname(resolve('dejavu-fonts-ttf/package.json')), 'ttf')

const family = (normal: string, bold: string) => ({ normal, bold, italics: normal, bolditalics: bold })

export const fontFiles: FontFiles = {
  Roboto: family(join(roboto, 'Roboto-Regular.ttf'), join(roboto, 'Roboto-Medium.ttf')),
  DejaVu: family(join(dejavu, 'DejaVuSans.ttf'), join(dejavu, 'DejaVuSans-Bold.ttf')),
  Mono: family(join(dejavu, 'DejaVuSansMono.ttf'), join(dejavu, 'DejaVuSansMono-Bold.ttf')),
}

const allowed = new Set(Object.values(fontFiles).flatMap((files) => Object.values(files)))

export const isFontFile = (path: string): boolean => allowed.has(path)

export type Family = 'Roboto' | 'Mono'
/** The font of a character of a family; null when no font has it. */
export type FontOf = (codePoint: number, family: Family, bold: boolean) => string | null

/** True if its glyph would vanish, or change what is around it. */
const isInvisible = (codePoint: number): boolean =>
  /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Co}]/u.test(String.fromCodePoint(codePoint))

/** Glyphs of ligatures and of joined letters: extracted text would have the letters that they are made of. */
const isPresentationForm = (codePoint: number): boolean =>
  (codePoint >= 0xfb00 && codePoint <= 0xfb06) ||
  (codePoint >= 0xfb50 && codePoint <= 0xfdff) ||
  (codePoint >= 0xfe70 && codePoint <= 0xfeff)

export function fontsOf(document: Document): FontOf {
  const known = new Map<string, string | null>()
  const search = (codePoint: number, first: Family, bold: boolean) => {
    if (isInvisible(codePoint) || isPresentationForm(codePoint)) return null
    const has = (name: string) => document.provideFont(name, bold, false).font.hasGlyphForCodePoint(codePoint)
    return [first, 'DejaVu'].find(has) ?? null
  }
  return (codePoint, first, bold) => {
    const key = `${first}${bold}${codePoint}`
    const found = known.get(key)
    if (found !== undefined) return found
    const font = search(codePoint, first, bold)
    known.set(key, font)
    return font
  }
}
