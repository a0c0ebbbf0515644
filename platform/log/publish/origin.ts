// The name of a log in its checkpoints.

/** `<host>/org/<org_id>/<epoch>`: the origin of a log in one of its epochs, which count from 1. */
export function originOf(log_host: string, org_id: string, epoch: number): string {
  return `${log_host}/org/${org_id}/${epoch}`
}
