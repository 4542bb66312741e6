import {
  backfill,
  backfillCronJobBody,
  createCronJobBody,
  cronJob,
  cronPreview,
  listCronJobsQuery,
  previewCronJobBody,
  updateCronJobBody,
} from '../cron-job.ts'
import { operation } from '../operation.ts'
import { recentRuns, recentRunsQuery } from '../overview.ts'
import { pageOf } from '../page.ts'
import { task } from '../task.ts'

export const cronJobsOperations = {
  listCronJobs: operation('GET', '/api/v1/scheduler/cronjobs', {
    right: 'cron_job.read',
    summary: 'List cron jobs, newest first',
    client: 'cronJobs.list',
    mayLag: true,
    query: listCronJobsQuery,
    answer: { status: 200, body: pageOf(cronJob) },
  }),

  createCronJob: operation('POST', '/api/v1/scheduler/cronjobs', {
    right: 'cron_job.write',
    summary: 'Create a cron job',
    description: 'It is stored when the response arrives.',
    client: 'cronJobs.create',
    body: createCronJobBody,
    answer: { status: 201, body: cronJob },
    refusals: ['quota_exceeded', 'key_in_use', 'conflict'],
    isIdempotent: true,
  }),

  previewCronJob: operation('POST', '/api/v1/scheduler/cronjobs/preview', {
    right: 'cron_job.read',
    summary: 'Preview when a cron expression fires',
    client: 'cronJobs.preview',
    body: previewCronJobBody,
    answer: { status: 200, body: cronPreview },
  }),

  listRecentRuns: operation('GET', '/api/v1/scheduler/cronjobs/recent-runs', {
    right: 'run.read',
    summary: 'Get the latest runs of several cron jobs at once, oldest first',
    mayLag: true,
    query: recentRunsQuery,
    answer: { status: 200, body: recentRuns },
  }),

  getCronJob: operation('GET', '/api/v1/scheduler/cronjobs/:cronjob', {
    right: 'cron_job.read',
    summary: 'Read a cron job',
    description: 'The response has its next five runs.',
    client: 'cronJobs.get',
    answer: { status: 200, body: cronJob },
  }),

  updateCronJob: operation('PATCH', '/api/v1/scheduler/cronjobs/:cronjob', {
    right: 'cron_job.write',
    summary: 'Change a cron job',
    description: 'A new `cron` or `timezone` replaces the runs that have not started.',
    client: 'cronJobs.update',
    body: updateCronJobBody,
    answer: { status: 200, body: cronJob },
    refusals: ['quota_exceeded', 'key_in_use', 'conflict'],
  }),

  deleteCronJob: operation('DELETE', '/api/v1/scheduler/cronjobs/:cronjob', {
    right: 'cron_job.delete',
    summary: 'Delete a cron job and cancel its tasks that have not started',
    client: 'cronJobs.delete',
    answer: { status: 204 },
  }),

  pauseCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/pause', {
    right: 'cron_job.write',
    summary: 'Pause a cron job',
    description: 'No run starts after the response.',
    client: 'cronJobs.pause',
    answer: { status: 200, body: cronJob },
  }),

  resumeCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/resume', {
    right: 'cron_job.write',
    summary: 'Resume a cron job from now on',
    description: 'Runs missed during the pause are skipped.',
    client: 'cronJobs.resume',
    answer: { status: 200, body: cronJob },
  }),

  triggerCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/trigger', {
    right: 'cron_job.write',
    summary: 'Dispatch a cron job at once',
    client: 'cronJobs.trigger',
    answer: { status: 201, body: task },
    refusals: ['quota_exceeded', 'loop_detected'],
  }),

  backfillCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/backfill', {
    right: 'cron_job.write',
    summary: 'Run a cron job for a past time: one task for each of at most 1,000 occurrences',
    description:
      'Skips occurrences that have a task which was not cancelled, so a repeated request creates nothing. Each task has the time of its occurrence as `execute_at`, and is due now.',
    client: 'cronJobs.backfill',
    body: backfillCronJobBody,
    answer: { status: 200, body: backfill },
    refusals: ['quota_exceeded', 'loop_detected'],
  }),
}
