// Errors of sources as callers of the API see them.
import { PlatformError } from '../errors.js'
import { SourceError } from './source/source.js'

export function repositoryNotFound(): PlatformError {
  return new PlatformError('NOT_FOUND', 'no such repository: `svc list-repos` and GET /api/v1/repos list them')
}

export function assignmentNotFound(): PlatformError {
  return new PlatformError(
    'NOT_FOUND',
    'no such assignment: `svc list-assignments` and GET /api/v1/assignments list them',
  )
}

/** Rejects with the error of the API instead of SourceError. `path` is the field of the request that names the repository. */
export async function reading<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof SourceError ? problemOf(path, error) : error
  }
}

function problemOf(path: string, cause: SourceError): PlatformError {
  const { code, message, retry_after } = cause
  const extras = { cause, errors: [{ path, message }] }
  if (code === 'private') return new PlatformError('PRIVATE_REPO_NEEDS_TOKEN', message, extras)
  if (code === 'repository_missing' || code === 'branch_missing') return new PlatformError('NOT_FOUND', message, extras)
  if (code === 'fetch_failed') {
    const headers = { 'retry-after': String(retry_after ?? 5) }
    return new PlatformError('UNAVAILABLE', message, { ...extras, headers })
  }
  return new PlatformError('INVALID', message, extras)
}
