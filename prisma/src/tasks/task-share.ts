/** The part of all tasks that belongs to one of `of` dispatchers. Each task is in exactly one part. */
export type TaskShare = { index: number; of: number }

export const wholeShare: TaskShare = { index: 0, of: 1 }

/** Returns whether a task belongs to a share, by the last two bytes of its id. These are random in the UUIDs of tasks. */
export function isInShare(id: string, { index, of }: TaskShare): boolean {
  return of === 1 || Number.parseInt(id.slice(-4), 16) % of === index
}

export function isOfShare(id: string, index: string, of: string): string {
  return `(${of} = 1 OR (get_byte(uuid_send(${id}), 14) * 256 + get_byte(uuid_send(${id}), 15)) % ${of} = ${index})`
}
