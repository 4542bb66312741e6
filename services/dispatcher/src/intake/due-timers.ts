/**
 * Keeps the timers of tasks that are not due yet. Many tasks are due at the same time.
 * @param now - The clock of the times, in milliseconds.
 */
export function createDueTimers<Task>(now: () => number) {
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
    /**
     * Adds a task. It shares a timer with all tasks of the same millisecond.
     * @param onDue - Receives all of them; only the callback of the first task is called. A timer may fire a little
     * before its time.
     */
    add(task: Task, dueAt: number, onDue: (tasks: Task[]) => void): void {
      const key = Math.ceil(dueAt)
      const known = waiting.get(key)
      if (known) known.tasks.push(task)
      else waiting.set(key, { tasks: [task], timer: startTimer(key, onDue) })
    },
    /** Stops the timers, and returns their tasks. */
    takeAll(): Task[] {
      const all = [...waiting.values()]
      waiting.clear()
      for (const { timer } of all) clearTimeout(timer)
      return all.flatMap(({ tasks }) => tasks)
    },
  }
}
