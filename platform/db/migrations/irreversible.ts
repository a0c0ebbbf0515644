// The `down` of every later migration: to undo one could lose records.

export async function down(): Promise<void> {
  throw new Error('this migration is irreversible: restore a backup instead')
}
