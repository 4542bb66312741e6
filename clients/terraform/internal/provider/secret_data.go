package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type secretDataSource struct{ dataConnection }

type secretDataModel struct {
	Name         types.String `tfsdk:"name"`
	AllowedHosts []string     `tfsdk:"allowed_hosts"`
	UpdatedAt    types.String `tfsdk:"updated_at"`
}

func (d *secretDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "belfry_secret"
}

func (d *secretDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A secret that must exist. Its value is never read.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{MarkdownDescription: "The name of the secret.", Required: true},
			"allowed_hosts": schema.SetAttribute{
				MarkdownDescription: "The hosts that it may be sent to. Null: every host.",
				ElementType:         types.StringType,
				Computed:            true,
			},
			"updated_at": schema.StringAttribute{
				MarkdownDescription: "When the value or the hosts changed.",
				Computed:            true,
			},
		},
	}
}

func (d *secretDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config secretDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := config.Name.ValueString()
	found, err := d.client.FindSecret(ctx, name)
	if err != nil {
		report(&resp.Diagnostics, "secret", err, nil)
		return
	}
	if found == nil {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "No such secret",
			"The workspace has no secret "+name+". Create it first.")
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &secretDataModel{
		Name:         types.StringValue(found.Name),
		AllowedHosts: found.AllowedHosts,
		UpdatedAt:    types.StringValue(found.UpdatedAt),
	})...)
}
