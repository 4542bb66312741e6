/** The origin of a task. */
export const taskSources = ['task', 'cron', 'event', 'callback'] as const
