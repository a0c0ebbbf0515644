// The migrations delete or convert rows, so none of them can be undone.

export async function down(): Promise<void> {
  throw new Error('this migration is irreversible: restore a backup instead')
}
