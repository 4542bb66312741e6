/** The part of the tasks that belongs to one of `of` dispatchers. Together the parts are all tasks, and none is in two. */
export type TaskShare = { index: number; of: number }

/** Whether a task belongs to a share, by the last two bytes of its id. They are random in every version of UUID that tasks have. */
export function isInShare(id: string, { index, of }: TaskShare): boolean {
  return of === 1 || Number.parseInt(id.slice(-4), 16) % of === index
}

/** The same as a condition in SQL. */
export function isOfShare(id: string, index: string, of: string): string {
  return `(${of} = 1 OR (get_byte(uuid_send(${id}), 14) * 256 + get_byte(uuid_send(${id}), 15)) % ${of} = ${index})`
}
