import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Tasks(): ReactNode {
  return <PageHeader title="Tasks" />
}
