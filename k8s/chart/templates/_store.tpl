{{/*
A store of one pod: a StatefulSet with its Service. Takes a dict: root, name, values (image, resources and persistence), port,
user and group of its image, ping (the command of its probes), data (the path of its volume), container
(its command, arguments and variables), annotations, and more mounts and volumes.
*/}}
{{- define "belfry.store" -}}
{{- $root := .root }}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {{- include "belfry.metadata" (list $root .name) | nindent 2 }}
    app.kubernetes.io/component: {{ .name }}
  {{- with .annotations }}
  annotations: {{ . }}
  {{- end }}
spec:
  serviceName: {{ include "belfry.name" $root }}-{{ .name }}
  replicas: 1
  selector:
    matchLabels:
      {{- include "belfry.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .name }}
  template:
    metadata:
      labels:
        {{- include "belfry.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
      {{- with $root.Values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "belfry.pod" (list $root (dict "runAsUser" .user "runAsGroup" .group "fsGroup" .group)) | nindent 6 }}
      terminationGracePeriodSeconds: 60
      containers:
        - name: {{ .name }}
          image: {{ .values.image }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          {{- .container | nindent 10 }}
          ports:
            - { name: {{ .name }}, containerPort: {{ .port }} }
          startupProbe:
            exec: { command: {{ .ping }} }
            periodSeconds: 2
            failureThreshold: 150
          livenessProbe:
            exec: { command: {{ .ping }} }
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            exec: { command: {{ .ping }} }
            timeoutSeconds: 5
          resources: {{- toYaml .values.resources | nindent 12 }}
          securityContext:
            {{- include "belfry.unprivileged" $root | nindent 12 }}
          volumeMounts:
            - { name: data, mountPath: {{ .data }} }
            {{- with .mounts }}
            {{- . | nindent 12 }}
            {{- end }}
      {{- with .volumes }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .values.persistence.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources: { requests: { storage: {{ .values.persistence.size }} } }
---
apiVersion: v1
kind: Service
metadata:
  {{- include "belfry.metadata" (list $root .name) | nindent 2 }}
    app.kubernetes.io/component: {{ .name }}
  {{- with .annotations }}
  annotations: {{ . }}
  {{- end }}
spec:
  clusterIP: None
  selector:
    {{- include "belfry.selector" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
  ports:
    - { name: {{ .name }}, port: {{ .port }}, targetPort: {{ .name }} }
{{- end }}
