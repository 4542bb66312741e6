/** What asked for a dispatch. */
export const taskSources = ['task', 'cron', 'event'] as const

export type TaskSource = (typeof taskSources)[number]
