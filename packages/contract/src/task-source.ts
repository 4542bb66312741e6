/** The origin of a task. */
export const taskSources = ['task', 'cron', 'event', 'callback'] as const

export type TaskSource = (typeof taskSources)[number]
