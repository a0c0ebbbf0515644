// The steps that a document of settings asks for, as data and in words.
import { quote } from '@svc/engine/parts'
import type { MadeAction, SettingsChange, SettingsLeft } from '@svc/schemas'
import type { Transaction } from '../db/db.js'

/** One change, and the commands that make it. */
export interface Step {
  readonly change: SettingsChange
  /** Returns the action that it creates, if it creates one. */
  readonly run: (tx: Transaction, now: number) => Promise<MadeAction | null>
}

/** What a document asks for of one kind of setting. */
export interface PlanPart {
  readonly steps: readonly Step[]
  readonly left_alone: readonly SettingsLeft[]
  readonly unchanged: number
}

type Setting = Pick<SettingsChange, 'kind' | 'name' | 'list'>
type Members = SettingsChange['members']

/** The setting as a new one. */
export function created(setting: Setting, members: Members): SettingsChange {
  return { ...setting, change: 'create', members, sentence: `${nameOf(setting)} is created` }
}

/** The setting with other members. */
export function changed(setting: Setting, members: Members): SettingsChange {
  const names = members.map(({ name }) => `\`${name}\``).join(', ')
  return { ...setting, change: 'change', members, sentence: `${nameOf(setting)} is changed: ${names}` }
}

export function retentionChanged(from: number, to: number): SettingsChange {
  const shorter = ': older ones are archived as a bundle and then deleted, within an hour'
  return {
    kind: 'retention',
    name: 'retention',
    list: null,
    change: 'change',
    members: [{ name: 'retention_days', from, to }],
    sentence: `entries of the log are kept for ${to} days instead of ${from}${to < from ? shorter : ''}`,
  }
}

/** A setting that the document does not state. */
export function left(setting: Setting): SettingsLeft {
  return { ...setting, sentence: `${nameOf(setting)} is not in the document and stays as it is` }
}

/** The message of a name that a document gives to two settings. */
export function twice(what: string, first: number, second: number): string {
  return `is the name of more than one ${what}, at the lines ${first} and ${second}: give each its own name, or remove one`
}

function nameOf({ kind, name, list }: Setting): string {
  if (kind === 'retention') return 'the retention of entries'
  return kind === 'action' ? `the action ${quote(name)}` : `the view ${quote(name)} of the list \`${list}\``
}
