// Makes docs/images/report-*.png again: four pages of a report, drawn by poppler (`pdftoppm`).
// `npm run build && node scripts/report-pictures.js [REPORT.pdf]`; without a file, the small report of the tests is drawn.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const images = `${root}docs/images`
/** A picture, and the heading of the page that it shows. */
const pictures = {
  cover: 'What was governed?',
  summary: 'Summary',
  agents: 'When policies were enforced',
  incidents: 'Incidents',
}

if (spawnSync('pdftoppm', ['-v']).error !== undefined) {
  process.stderr.write('no pdftoppm: install poppler-utils\n')
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'svc-report-'))
try {
  const file = process.argv[2] ?? (await sample(join(folder, 'report.pdf')))
  const pages = execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\f')
  mkdirSync(images, { recursive: true })
  for (const [name, heading] of Object.entries(pictures)) draw(file, name, pageOf(pages, heading))
} finally {
  rmSync(folder, { recursive: true })
}

/** The first page with a line that begins with this heading; pages count from 1. */
function pageOf(pages, heading) {
  const isHere = (line) => line.trim() === heading || line.trim().startsWith(`${heading}  `)
  const index = pages.findIndex((page) => page.split('\n').some((line) => isHere(line) && !/\d$/.test(line)))
  if (index === -1) throw new Error(`no page has the heading \`${heading}\``)
  return index + 1
}

function draw(file, name, page) {
  const number = String(page)
  execFileSync('pdftoppm', [
    '-png',
    '-singlefile',
    '-r',
    '100',
    '-f',
    number,
    '-l',
    number,
    file,
    `${images}/report-${name}`,
  ])
}

async function sample(file) {
  const { reportPdf } = await import(`${root}report/dist/formats/pdf.js`)
  const { reportXml } = await import(`${root}report/dist/formats/oscal.js`)
  const { reportData } = await import(`${root}test/dist/support/reports/report-data.js`)
  const data = reportData()
  writeFileSync(file, await reportPdf(data, reportXml(data)))
  return file
}
