import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Overview(): ReactNode {
  return <PageHeader title="Overview" />
}
