//! Running a shader: its pipeline, which is made once, its parameters and its buffers.

use std::sync::PoisonError;

use torch_library::prelude::*;

use crate::gpu::Gpu;
use crate::memory::Memory;

/// Threads of a workgroup.
pub(crate) const THREADS: u32 = 64;

/// The most workgroups of one dimension of a launch.
const MOST_GROUPS: u64 = 65_535;

/// Parameters that have no names: `params[0]`.
pub(crate) const WORDS: &str = "array<u32>";

/// Parameters of a structure that the body declares: `p.count`.
pub(crate) const NAMED: &str = "Params";

/// A shader, what it reads, and what it writes.
pub(crate) struct Launch<'a> {
    /// Its name, for the tools of drivers.
    pub(crate) label: &'a str,
    /// The body: after the declarations of parameters, `in0` and so on, and `result`.
    pub(crate) source: &'a str,
    pub(crate) params: &'a [u32],
    /// [`WORDS`] or [`NAMED`].
    pub(crate) params_type: &'static str,
    pub(crate) inputs: &'a [&'a Memory],
    /// What it writes: `result`, then `result1` and so on.
    pub(crate) results: &'a [&'a Memory],
    pub(crate) groups: u64,
}

impl Launch<'_> {
    /// Asks the device to run it.
    pub(crate) fn run(self) -> Result<()> {
        if self.groups == 0 {
            return Ok(());
        }
        let Some(gpu) = self.results.first().map(|result| &result.gpu) else { return Ok(()) };
        let same =
            self.inputs.iter().chain(self.results).all(|input| std::sync::Arc::ptr_eq(&input.gpu, gpu));
        ensure!(same, Device, "tensors of two devices, or of one that was lost between them");
        gpu.check()?;
        let pipeline = self.pipeline(gpu)?;
        let params: Vec<u8> = self.params.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let parameters = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: params.len() as u64,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: true,
        });
        match parameters.get_mapped_range_mut(..) {
            Ok(mut view) => view.copy_from_slice(&params),
            Err(error) => bail!(Internal, "no parameters: {error:?}"),
        }
        parameters.unmap();
        let buffers = std::iter::once(&parameters)
            .chain(self.inputs.iter().map(|input| input.buffer()))
            .chain(self.results.iter().map(|result| result.buffer()));
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = pipeline.get_bind_group_layout(0);
        let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: &layout,
            entries: &entries,
        });
        let wide = self.groups.min(MOST_GROUPS);
        let high = self.groups.div_ceil(wide);
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(wide as u32, high as u32, 1);
        })
    }

    fn pipeline(&self, gpu: &Gpu) -> Result<wgpu::ComputePipeline> {
        let declared = declarations(self.params_type, self.inputs.len(), self.results.len());
        let source = format!("{declared}{}", self.source);
        let mut pipelines = gpu.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&source) {
            return Ok(pipeline.clone());
        }
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(self.label),
            source: wgpu::ShaderSource::Wgsl(source.as_str().into()),
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(self.label),
            layout: Some(&self.layout(gpu)),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        gpu.check()?; // no pipeline is kept that is none
        pipelines.insert(source, pipeline.clone());
        Ok(pipeline)
    }
}

impl Launch<'_> {
    /// All buffers, also those that the shader does not look at.
    fn layout(&self, gpu: &Gpu) -> wgpu::PipelineLayout {
        let read = 1 + self.inputs.len();
        let entry = |binding: usize| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: binding < read },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = (0..read + self.results.len()).map(entry).collect();
        let (label, entries) = (Some(self.label), entries.as_slice());
        let group = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries });
        gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        })
    }
}

/// Buffers are words: what they mean is the shader's to say.
fn declarations(params_type: &str, inputs: usize, results: usize) -> String {
    let name = if params_type == NAMED { "p" } else { "params" };
    let mut text = format!("@group(0) @binding(0) var<storage, read> {name}: {params_type};\n");
    for input in 0..inputs {
        let binding = input + 1;
        text += &format!("@group(0) @binding({binding}) var<storage, read> in{input}: array<u32>;\n");
    }
    for result in 0..results {
        let (binding, name) = (inputs + result + 1, result_name(result));
        text += &format!("@group(0) @binding({binding}) var<storage, read_write> {name}: array<u32>;\n");
    }
    text + COMMON
}

/// What a result is called in a shader.
pub(crate) fn result_name(number: usize) -> String {
    if number == 0 { "result".to_owned() } else { format!("result{number}") }
}

/// Which thread and workgroup this is, and numbers that are none.
const COMMON: &str = "
fn group_number(group: vec3<u32>, groups: vec3<u32>) -> u32 { return group.y * groups.x + group.x; }
fn is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }
// Drivers may be off by some units of the last place; what is left over says by how much.
fn divided(a: f32, b: f32) -> f32 {
    let first = a / b;
    let better = first + fma(-first, b, a) / b;
    return select(first, better, is_finite(better));
}
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
// The upper word of a product.
fn upper(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let one = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (one & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (one >> 16u) + (other >> 16u);
}
";
