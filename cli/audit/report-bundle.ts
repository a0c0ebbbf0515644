// `svc report --bundle`: makes a report again from its bundle, offline.
import { writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { readTrust, verdictText, verifyBundle } from '@svc/proof/verify'
import type { BundledReport } from '@svc/report/bundle'
import type { BundleVerdict, Report } from '@svc/schemas'
import type { Output } from '../account/subcommand.js'
import { InputError, UsageError } from '../errors.js'
import { assertFolder, fileNameOf, isOfPeriod, type ReportOptions } from './report-options.js'

/** A bundle that is not valid gives its verdict and no report. Rejects for a bundle that is not that of a report. */
export async function reportOfBundle(
  bundle: string | undefined,
  trust: string | undefined,
  options: ReportOptions,
): Promise<Output> {
  if (bundle === undefined || trust === undefined) throw new UsageError('give `--bundle` and `--trust` together')
  if (options.id !== undefined || isOfPeriod(options))
    throw new UsageError('give either `--bundle` or a period: a report has its period, times and agents')
  const { out } = options
  if (out !== undefined) assertFolder(out)
  const { makeBundledReport } = await makers()
  const { policy, problems } = readTrust(trust)
  if (problems !== '') throw new UsageError(problems.trimEnd())
  const verdict = await verifyBundle({ path: bundle, policy, since: null })
  if (!verdict.valid)
    return { lines: verdictText(bundle, verdict).trimEnd().split('\n'), json: verdict, isUnreached: true }
  const make = (format: Report['format'] | null) => makeBundledReport(bundle, policy, format)
  return made(make, verdict, options)
}

type Make = (format: Report['format'] | null) => Promise<BundledReport>

async function made(make: Make, verdict: BundleVerdict, { format, out }: ReportOptions) {
  const report = await make((format as Report['format'] | undefined) ?? formatOf(out))
  const { plan, bytes, sha256, issued } = report
  const file = out ?? fileNameOf({ ...plan.period, by: plan.by, format: plan.format })
  writeFileSync(file, bytes)
  const json = { file, report: plan, sha256, issued_sha256: issued.sha256, log_index: issued.log_index }
  return {
    lines: linesOf(file, verdict, report),
    json,
    isUnreached: issued.sha256 !== null && issued.sha256 !== sha256,
  }
}

/** The command does without what makes PDFs, which is ten times as large. */
async function makers() {
  try {
    return await import('@svc/report/bundle')
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new InputError(
      'the package `@svc/report`, which makes reports, is not installed: install it next to `@svc/cli`',
    )
  }
}

/** The format that the ending of a name states; null for another ending. */
function formatOf(file = ''): Report['format'] | null {
  return (['pdf', 'xml', 'json'] as const).find((format) => extname(file) === `.${format}`) ?? null
}

function linesOf(file: string, { workspace }: BundleVerdict, { plan, sha256, issued }: BundledReport): string[] {
  const { period, by, cut_off } = plan
  const times = by === 'occurred' ? ', by the times that senders state' : ''
  const entry = `entry ${issued.log_index} of the log`
  const compared =
    issued.sha256 === null
      ? `${entry} holds the SHA-256 of the report in another format`
      : issued.sha256 === sha256
        ? `${entry} holds the same: this is the issued report, byte for byte`
        : `${entry} holds ${issued.sha256}: the issued report has other bytes; docs/auditors.md lists the reasons`
  return [
    `${file}: ${workspace ?? plan.id}, ${period.from} to ${period.to}${times}, as of ${cut_off} entries of the log`,
    `its SHA-256 is ${sha256}`,
    compared,
  ]
}
