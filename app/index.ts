// The exports of the package.
export type {} from '@svc/platform'
