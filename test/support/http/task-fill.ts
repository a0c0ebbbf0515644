// Fills the log of a platform with recorded tasks, for measurements of a replay. Nothing of it is signed.

/**
 * SQL that fills the log of an organization from log index `first`: tasks of `steps` steps each over the last twenty days, of all
 * agents alternately. Every 20th task books for more than 500.
 */
export const tasksOf = (
  org_id: string,
  agent_ids: readonly string[],
  tasks: number,
  steps: number,
  first: number,
) => /* sql */ `
select svc_ensure_month(now() - interval '20 days'), svc_ensure_month(now() - interval '10 days'), svc_ensure_month(now());
create temp table e as select n + ${first} as i, n / ${steps} as t, n % ${steps} + 1 as step, (array['${agent_ids.join("','")}'])[n / ${steps} % ${agent_ids.length} + 1] as agent_id,
  date_trunc('milliseconds', now() - interval '20 days' + n * interval '${(20 * 86_400 - 600) / (tasks * steps)} seconds') as at
  from generate_series(0, ${tasks * steps - 1}) n;
insert into log_entries select '${org_id}', i, at, 'fill_' || i, agent_id, 'fill-' || t, step, step,
  case when step = 1 then 'task.start' when step = ${steps} then 'task.end' when step = 2 then 'step.message' when step % 3 = 0 then 'step.model'
    else 'step.resource' end,
  to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), at, false, false, '', null, 'key', '', md5(i::text), repeat('r', 600) from e;
insert into log_payloads select '${org_id}', i, at, '{}', case when step in (1, ${steps}) then '{}'
  when step = 2 then '{"verb":"GET","output":{"text":"please change the seat on my flight to Zurich ' || i || '"},"properties":{"counterpart":{"kind":"user"},"content":{"trust":"own"}}}'
  when step % 3 = 0 then '{"verb":"POST","output":{"text":"' || repeat('the passenger asked to change seat on flight ', 6) || i || '"},"properties":{"usage":{"total_tokens":' || 200 + i % 900 || '}}}'
  else '{"verb":"POST","step_name":"' || (array['search_flight', 'get_reservation', 'book_reservation', 'update_address', 'send_certificate'])[i % 5 + 1]
    || '","input":{"reservation_id":"Q' || i % 9973 || '","amount":' || case when t % 20 = 0 and step = 17 then 600 else i * 7 % 500 end
    || ',"passengers":[{"first_name":"mia","last_name":"li","dob":"1990-04-05"}],"note":"seat 12A for mia"},"output":{"status":"ok","flights":[{"no":"HAT' || i % 300
    || '","price":' || i % 900 || '}]},"properties":{"target":{"trust":"internal","host":"booking.example"},"data":{"classification":"internal"}}}' end from e;
insert into log_leaves select '${org_id}', i, 'step', md5(i::text), at from e;
insert into task_heads (org_id, task_id, agent_id, seq, hash, first_log_index, last_log_index, min_step, max_step, first_ts, last_ts,
    first_received_at, last_received_at, has_end, has_error)
  select '${org_id}', 'fill-' || t, min(agent_id), ${steps}, '', min(i), max(i), 1, ${steps}, '', '', min(at), max(at), true, false
  from e group by t;
update org_log set size = ${first + tasks * steps} where org_id = '${org_id}';
drop table e;
`
