import { taskSources } from '@belfry/domain/task-source'

const labels: Record<(typeof taskSources)[number], string> = {
  task: 'Tasks',
  cron: 'Cron jobs',
  event: 'Events',
  callback: 'Callbacks',
}

export const sourceOptions = taskSources.map(value => ({ value, label: labels[value] }))
