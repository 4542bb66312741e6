import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Task(): ReactNode {
  return <PageHeader title="Task" />
}
