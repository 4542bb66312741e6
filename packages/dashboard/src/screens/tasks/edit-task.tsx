import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function EditTask(): ReactNode {
  return <PageHeader title="Edit task" />
}
