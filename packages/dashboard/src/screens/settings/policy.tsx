import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Policy(): ReactNode {
  return <PageHeader title="Policy" />
}
