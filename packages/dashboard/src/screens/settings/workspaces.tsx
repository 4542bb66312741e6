import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Workspaces(): ReactNode {
  return <PageHeader title="Workspaces" />
}
