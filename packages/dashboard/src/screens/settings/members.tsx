import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Members(): ReactNode {
  return <PageHeader title="Members" />
}
