import { taskSources } from '@belfry/domain/task-source'

export const sourceNames: Record<(typeof taskSources)[number], string> = {
  task: 'Task',
  cron: 'Cron job',
  event: 'Event',
  callback: 'Callback',
}

export const sourceOptions = taskSources.map(value => ({ value, label: `${sourceNames[value]}s` }))
