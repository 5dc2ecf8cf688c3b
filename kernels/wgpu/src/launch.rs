//! Running a shader: its pipeline, which is made once, its parameters and its buffers.

use std::sync::PoisonError;

use torch_library::prelude::*;

use crate::gpu::Gpu;
use crate::memory::Memory;

/// Threads of a workgroup.
pub(crate) const THREADS: u32 = 64;

/// The most workgroups of one dimension of a launch.
const MOST_GROUPS: u64 = 65_535;

/// A shader, what it reads, and what it writes.
pub(crate) struct Launch<'a> {
    /// Its name, for the tools of drivers.
    pub(crate) label: &'a str,
    /// The body: after the declarations of `params`, `in0` and so on, and `result`.
    pub(crate) source: &'a str,
    pub(crate) params: &'a [u32],
    pub(crate) inputs: &'a [&'a Memory],
    pub(crate) result: &'a Memory,
    pub(crate) groups: u64,
}

impl Launch<'_> {
    /// Asks the device to run it.
    pub(crate) fn run(self) -> Result<()> {
        if self.groups == 0 {
            return Ok(());
        }
        let gpu = &self.result.gpu;
        let same = self.inputs.iter().all(|input| std::sync::Arc::ptr_eq(&input.gpu, gpu));
        ensure!(same, Device, "tensors of two devices, or of one that was lost between them");
        gpu.check()?;
        let pipeline = self.pipeline(gpu);
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
            .chain([self.result.buffer()]);
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

    fn pipeline(&self, gpu: &Gpu) -> wgpu::ComputePipeline {
        let source = format!("{}{}", declarations(self.inputs.len()), self.source);
        let mut pipelines = gpu.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&source) {
            return pipeline.clone();
        }
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(self.label),
            source: wgpu::ShaderSource::Wgsl(source.as_str().into()),
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(self.label),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        pipelines.insert(source, pipeline.clone());
        pipeline
    }
}

/// Buffers are words: what they mean is the shader's to say.
fn declarations(inputs: usize) -> String {
    let mut text = "@group(0) @binding(0) var<storage, read> params: array<u32>;\n".to_owned();
    for input in 0..inputs {
        let binding = input + 1;
        text += &format!("@group(0) @binding({binding}) var<storage, read> in{input}: array<u32>;\n");
    }
    let binding = inputs + 1;
    text + &format!("@group(0) @binding({binding}) var<storage, read_write> result: array<u32>;\n{COMMON}")
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
";
