import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function CronJobs(): ReactNode {
  return <PageHeader title="Cron jobs" />
}
