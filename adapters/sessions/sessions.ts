// Readers of transcripts of coding agents (docs/adr/0054-coding-agent-transcripts.md).
export type { OtherLine } from './act.js'
export type { CodingFormatName } from './known-tools.js'
export {
  codingFormatNames,
  formatOfLine,
  type LinePlace,
  type LineReading,
  placeOfLine,
  readLine,
  valuesOfSession,
} from './lines.js'
export { createSession, type Session } from './session.js'
