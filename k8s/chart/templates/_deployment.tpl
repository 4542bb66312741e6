{{/*
A service's Deployment. Takes a dict: root, name, replicas (null where an autoscaler sets it), surge, grace in seconds, config
(the ConfigMap of its own, or ""), required and optional variables of the Secret, port of its probes, and pause in seconds
before it stops.
*/}}
{{- define "belfry.deployment" -}}
{{- $root := .root }}
{{- $values := index $root.Values .name }}
{{- $full := include "belfry.name" $root }}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "belfry.metadata" (list $root .name) | nindent 2 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  {{- if .replicas }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels: &selector
      {{- include "belfry.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .name }}
  strategy:
    rollingUpdate: { maxSurge: {{ .surge }}, maxUnavailable: 0 }
  template:
    metadata:
      labels:
        {{- include "belfry.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
      annotations:
        # A changed variable restarts the pods.
        checksum/config: {{ toJson $root.Values.config | sha256sum }}
        {{- with $root.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "belfry.pod" (list $root (dict "runAsUser" 1000 "runAsGroup" 1000)) | nindent 6 }}
      terminationGracePeriodSeconds: {{ .grace }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: { matchLabels: *selector }
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: { matchLabels: *selector }
      initContainers:
        - name: wait-for-tables
          image: {{ include "belfry.image" (list $root "migrate") }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [wait]
          env:
            {{- include "belfry.roleUrl" (list $root "DATABASE_URL" .name) | nindent 12 }}
          resources:
            requests: { cpu: 50m, memory: 64Mi }
            limits: { memory: 768Mi }
          securityContext:
            {{- include "belfry.unprivileged" $root | nindent 12 }}
      containers:
        - name: {{ .name }}
          image: {{ include "belfry.image" (list $root .name) }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          envFrom:
            - configMapRef: { name: {{ $full }} }
            {{- if .config }}
            - configMapRef: { name: {{ $full }}-{{ .name }} }
            {{- end }}
          env:
            {{- include "belfry.roleUrl" (list $root "DATABASE_URL" .name) | nindent 12 }}
            {{- if $root.Values.redis.enabled }}
            - name: REDIS_URL
              valueFrom: { secretKeyRef: { name: {{ $root.Values.redis.secret | default $root.Values.secret }}, key: {{ $root.Values.redis.key }} } }
            {{- end }}
            {{- range .required }}
            {{- include "belfry.secretVariable" (list $root . false) | nindent 12 }}
            {{- end }}
            {{- range .optional }}
            {{- include "belfry.secretVariable" (list $root . true) | nindent 12 }}
            {{- end }}
            {{- with $values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            {{- if eq .port "http" }}
            - { name: http, containerPort: 3000 }
            {{- end }}
            - { name: metrics, containerPort: 9090 }
          startupProbe:
            httpGet: { path: /healthz, port: {{ .port }} }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: {{ .port }} }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: {{ .port }} }
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 3
          {{- if .pause }}
          lifecycle:
            preStop: { exec: { command: [sleep, {{ .pause | quote }}] } }
          {{- end }}
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            {{- include "belfry.unprivileged" $root | nindent 12 }}
{{- end }}
