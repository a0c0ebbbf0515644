// The totals on page 1 of a report.
/** Totals of the period, unless stated otherwise; of the chosen agents. */
export interface Summary {
  /** Registered before the cut-off. */
  readonly agents: number
  /** With at least one step in the period. */
  readonly active_agents: number
  /** With some ungoverned time in the period. */
  readonly ungoverned_agents: number
  readonly tasks: number
  readonly steps: number
  /** Steps that a local engine evaluated before they ran, and those that none did; of the others, the content is erased. */
  readonly decided_steps: number
  readonly undecided_steps: number
  /** Steps that violated at least one enforced policy without a waiver. */
  readonly steps_in_violation: number
  /** Those of them that violated a critical policy and are not known to have been stopped. */
  readonly critical_steps: number
  /** Each policy that a step violated counts once; split into the three kinds below. */
  readonly violations: number
  readonly enforced: number
  /** Of policies in observe mode. */
  readonly observed: number
  readonly waived: number
  readonly incidents_opened: number
  /** Of those opened in the period: open at the cut-off. */
  readonly incidents_unanswered: number
  /** Open or active at the cut-off, whenever they were opened. */
  readonly incidents_open: number
  /** Of these, the ones from before the period, and the ones of them that are open. */
  readonly incidents_open_earlier: number
  readonly incidents_unanswered_earlier: number
  /** Decisions whose steps were not recorded in time, as local engines declare them. */
  readonly unrecorded_decisions: number
  /** Of these, the ones to block or to ask, and the ones to allow; an engine that has too many gives some of them no event. */
  readonly unrecorded_blocked: number
  readonly unrecorded_allowed: number
  readonly approvals_asked: number
  readonly approvals_given: number
  /** Asked for in vain: the step was recorded all the same, or it was stopped before it ran. */
  readonly approvals_missing: number
  readonly approvals_blocked: number
  /** Steps that were asked about, and gates, whose content is erased. */
  readonly approvals_erased: number
  readonly gates_erased: number
  /**
   * Counted steps whose other time is outside of the period: the one that they claim, or that of their receipt where they count by
   * the one that they claim. The first and the last of these times.
   */
  readonly steps_outside: number
  readonly outside: { readonly first: string; readonly last: string } | null
}

type DecidedSteps = Pick<Summary, 'steps' | 'decided_steps' | 'undecided_steps'>

/** Steps whose content was erased: the log proves neither their decision nor their violations any longer. */
export function erasedSteps({ steps, decided_steps, undecided_steps }: DecidedSteps): number {
  return steps - decided_steps - undecided_steps
}
