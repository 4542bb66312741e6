import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function EditCronJob(): ReactNode {
  return <PageHeader title="Edit cron job" />
}
