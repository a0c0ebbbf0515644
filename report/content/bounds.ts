// The sizes to which a report cuts its lists: totals are complete. A report of these sizes has some hundred pages.

export const maxAgents = 1000
/** Of all agents together. */
export const maxIntervals = 2000
export const maxPolicies = 500
export const maxWaivers = 200
export const maxPolicyChanges = 500
/** Agents that one change of policies names. */
export const maxChangedAgents = 20
export const maxIncidents = 500
/** Of one incident: the latest ones. */
export const maxMoves = 20
export const maxApprovals = 500
export const maxChanges = 1000
export const maxHolds = 200
export const maxErasures = 200
export const maxPrunes = 200
export const maxProblems = 100
export const maxCheckpoints = 50
/** Types of steps that are counted by name; the senders choose the names. The others count as `other`. */
export const maxStepTypes = 200
