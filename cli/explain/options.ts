// What `svc explain` is asked for.

export interface ExplainOptions {
  readonly trace: string
  readonly step?: number
  readonly evaluation?: string
  readonly task?: string
  readonly run?: number
  readonly agent?: string
  readonly json?: true
}
