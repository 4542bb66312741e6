import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function NewTask(): ReactNode {
  return <PageHeader title="New task" />
}
