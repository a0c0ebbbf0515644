// The options of `svc serve`.
export interface ServeOptions {
  readonly baseline?: true
  readonly policyFile: readonly string[]
  readonly host: string
  readonly port: number
  readonly agentKey?: string
  readonly token?: string
  readonly failClosed?: true
  readonly strict?: true
  readonly logLocation?: string
  readonly logFormat?: string
  readonly incidentLocation?: string
  readonly incidentFormat?: string
}
