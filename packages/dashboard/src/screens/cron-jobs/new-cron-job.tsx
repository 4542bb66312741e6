import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function NewCronJob(): ReactNode {
  return <PageHeader title="New cron job" />
}
