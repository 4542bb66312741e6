package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"terraform-provider-belfry/internal/belfry"
)

type workspaceDataSource struct{ dataConnection }

var workspaceDataFields = declared("workspace_data")

func (d *workspaceDataSource) Metadata(
	_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse,
) {
	resp.TypeName = "belfry_workspace"
}

func (d *workspaceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The workspace of the API key.",
		Attributes:          workspaceDataFields.dataAttributes(),
	}
}

func (d *workspaceDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	var found belfry.Object
	if err := d.client.Get(ctx, belfry.CurrentWorkspace, &found); err != nil {
		report(&resp.Diagnostics, "workspace", err, nil)
		return
	}
	values{}.write(ctx, workspaceDataFields, found, &resp.State, &resp.Diagnostics)
}
