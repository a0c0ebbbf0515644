/** The rows of each agent, in their order. */
export function groupByAgent<Row extends { readonly agent_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const own = groups.get(row.agent_id)
    if (own === undefined) groups.set(row.agent_id, [row])
    else own.push(row)
  }
  return groups
}
