// Counts that the database maintains, in the transaction of each statement that changes the counted rows.

interface Counted {
  /** The counted rows, in the name of the function. */
  readonly what: string
  readonly table: string
  /** The table of the counts, in the names of the triggers. */
  readonly counts: string
  /** Adds rows, `n` each, to the counts; the argument selects them. */
  readonly add: (rows: string) => string
  /** Follows the deletion of rows. */
  readonly on_delete?: string
}

/** The function and its triggers. */
export function countedRows({ what, table, counts, add, on_delete = '' }: Counted): string {
  return /* sql */ `
create function svc_count_${what}() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${add('select *, 1 as n from after_change')}
  elsif tg_op = 'UPDATE' then
    ${add('select *, 1 as n from after_change union all select *, -1 from before_change')}
  else
    ${add('select *, -1 as n from before_change')}${on_delete}
  end if;
  return null;
end $$;
create trigger ${counts}_inserted after insert on ${table}
  referencing new table as after_change for each statement execute function svc_count_${what}();
create trigger ${counts}_updated after update on ${table}
  referencing old table as before_change new table as after_change for each statement execute function svc_count_${what}();
create trigger ${counts}_deleted after delete on ${table}
  referencing old table as before_change for each statement execute function svc_count_${what}();
`
}
