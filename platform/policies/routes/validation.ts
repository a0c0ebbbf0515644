// Validation of a manifest that is not stored: what `svc validate` and `svc test` report about the same text.
import { validateFiles } from '@svc/engine'
import { isYamlFile, type SourceFile, testFilesOf, validationReport } from '@svc/engine/parts'
import type { ValidationRequest } from '@svc/schemas'
import type { Resources } from '../../db/db.js'
import { byReaderOrKey, route } from '../../http/route.js'

/** Answers of policies to tests in one request: about 50 ms of work, during which other requests wait. */
const maxAnswers = 10_000

export const validationRoutes = [
  route({
    method: 'post',
    path: '/api/v1/manifests/validate',
    summary: 'Validate the text of a manifest and run its tests',
    tag: 'Policies',
    access: byReaderOrKey,
    body: 'validation-request',
    responses: { 200: 'validation-report' },
    handle: async ({ body }, { clock }: Pick<Resources, 'clock'>) => {
      const coverage = body.coverage === true
      const options = { tests: 'if-present' as const, coverage, max_answers: maxAnswers, now: clock() }
      return { status: 200, body: validationReport(validateFiles(filesOf(body), options)) }
    },
  }),
]

/** The manifest, and its tests as a file beside it. */
function filesOf({ manifest, file = 'manifest.yaml', tests }: ValidationRequest): SourceFile[] {
  const path = isYamlFile(file) ? file : `${file}.yaml`
  const beside = { path: testFilesOf(path)[0], text: tests ?? '', named: true }
  return [{ path, text: manifest, named: true }, ...(tests === undefined ? [] : [beside])]
}
