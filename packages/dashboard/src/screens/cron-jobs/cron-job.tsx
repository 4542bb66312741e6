import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function CronJob(): ReactNode {
  return <PageHeader title="Cron job" />
}
