/** Tasks that wait for their instants, of which many may be the same. */
export type Instants<Task> = {
  /**
   * Lets a task wait until an instant, which it shares with all tasks of the same millisecond.
   * @param onDue - Gets all of them; that of the first task is called. Timers may fire a little before their time.
   */
  add(task: Task, instant: number, onDue: (tasks: Task[]) => void): void
  /** Takes out every task that still waits. */
  takeAll(): Task[]
}

/** Makes one timer for all tasks that wait for the same millisecond. */
export function createInstants<Task>(now: () => number): Instants<Task> {
  const waiting = new Map<number, { tasks: Task[]; timer: NodeJS.Timeout }>()

  function startTimer(key: number, onDue: (tasks: Task[]) => void): NodeJS.Timeout {
    return setTimeout(
      () => {
        const due = waiting.get(key)
        waiting.delete(key)
        if (due) onDue(due.tasks)
      },
      Math.ceil(key - now()),
    )
  }

  return {
    add(task, instant, onDue) {
      const key = Math.ceil(instant)
      const known = waiting.get(key)
      if (known) known.tasks.push(task)
      else waiting.set(key, { tasks: [task], timer: startTimer(key, onDue) })
    },
    takeAll() {
      const all = [...waiting.values()]
      waiting.clear()
      for (const { timer } of all) clearTimeout(timer)
      return all.flatMap(({ tasks }) => tasks)
    },
  }
}
