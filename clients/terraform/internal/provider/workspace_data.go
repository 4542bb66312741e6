package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

type workspaceDataSource struct{ dataConnection }

type workspaceModel struct {
	ID                        types.String `tfsdk:"id"`
	OrganizationID            types.String `tfsdk:"organization_id"`
	Name                      types.String `tfsdk:"name"`
	KeepsResponsesWithSecrets types.Bool   `tfsdk:"keeps_responses_with_secrets"`
	AsymmetricSignatures      types.Bool   `tfsdk:"asymmetric_signatures"`
	CreatedAt                 types.String `tfsdk:"created_at"`
}

func (d *workspaceDataSource) Metadata(
	_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse,
) {
	resp.TypeName = "belfry_workspace"
}

func (d *workspaceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The workspace of the API key.",
		Attributes: map[string]schema.Attribute{
			"id":              text("The id of the workspace."),
			"organization_id": text("The id of its organization."),
			"name":            text("Its name."),
			"keeps_responses_with_secrets": schema.BoolAttribute{
				MarkdownDescription: "Whether the log keeps the headers and bodies of responses to requests with secrets.",
				Computed:            true,
			},
			"asymmetric_signatures": schema.BoolAttribute{
				MarkdownDescription: "Whether deliveries also have a `v1a` signature (Ed25519).",
				Computed:            true,
			},
			"created_at": text("When it was created."),
		},
	}
}

func (d *workspaceDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	var found belfry.Workspace
	if err := d.client.Get(ctx, belfry.CurrentWorkspace, &found); err != nil {
		report(&resp.Diagnostics, "workspace", err, nil)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &workspaceModel{
		ID:                        types.StringValue(found.ID),
		OrganizationID:            types.StringValue(found.OrganizationID),
		Name:                      types.StringValue(found.Name),
		KeepsResponsesWithSecrets: types.BoolValue(found.KeepsResponsesWithSecrets),
		AsymmetricSignatures:      types.BoolValue(found.AsymmetricSignatures),
		CreatedAt:                 types.StringValue(found.CreatedAt),
	})...)
}
