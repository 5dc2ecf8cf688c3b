//! Launching a shader: its pipeline, which is made once, its parameters and its buffers.

use std::sync::PoisonError;

use torch_library::prelude::*;

use crate::gpu::Gpu;
use crate::memory::Memory;

/// The number of threads of a workgroup.
pub(crate) const THREADS: u32 = 64;

/// The most workgroups in one dimension of a launch.
const MOST_GROUPS: u64 = 65_535;

/// How a body refers to its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameters {
    /// By number: `params[0]`.
    Numbered,
    /// As fields of the structure `Params`, which the body declares: `p.count`.
    Named,
}

/// A pipeline and its layout.
#[derive(Clone)]
pub(crate) struct Ready {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// A launch: a shader, the buffers that it reads, and those that it writes.
pub(crate) struct Launch<'a> {
    /// Its label, for drivers' tools.
    pub(crate) label: &'a str,
    /// The body, which follows the declarations of the parameters, of `in0` and so on, and of `result`.
    pub(crate) source: &'a str,
    pub(crate) params: &'a [u32],
    pub(crate) params_are: Parameters,
    pub(crate) inputs: &'a [&'a Memory],
    /// The buffers that it writes: `result`, then `result1` and so on.
    pub(crate) results: &'a [&'a Memory],
    pub(crate) groups: u64,
}

impl Launch<'_> {
    /// Records the launch.
    pub(crate) fn run(self) -> Result<()> {
        if self.groups == 0 {
            return Ok(());
        }
        let Some(gpu) = self.results.first().map(|result| &result.gpu) else { return Ok(()) };
        let same =
            self.inputs.iter().chain(self.results).all(|input| std::sync::Arc::ptr_eq(&input.gpu, gpu));
        ensure!(same, Device, "tensors on two devices, or on one that was lost in between");
        gpu.check()?;
        let Ready { pipeline, layout } = self.pipeline(gpu)?;
        let wide = self.groups.min(MOST_GROUPS);
        let high = self.groups.div_ceil(wide);
        gpu.launch(self.params, |pass, parameters| {
            let tensors = self.inputs.iter().chain(self.results);
            let tensors = tensors.map(|memory| memory.buffer().as_entire_binding());
            let entries: Vec<_> = (0..)
                .zip(std::iter::once(wgpu::BindingResource::Buffer(parameters)).chain(tensors))
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
                .collect();
            let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(self.label),
                layout: &layout,
                entries: &entries,
            });
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(wide as u32, high as u32, 1);
        })
    }

    fn pipeline(&self, gpu: &Gpu) -> Result<Ready> {
        let declared = self.declarations();
        let source = format!("{declared}{}", self.source);
        let mut pipelines = gpu.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = pipelines.get(&source) {
            return Ok(ready.clone());
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
        gpu.check()?; // an invalid pipeline is not cached
        let ready = Ready { layout: pipeline.get_bind_group_layout(0), pipeline };
        pipelines.insert(source, ready.clone());
        Ok(ready)
    }
}

impl Launch<'_> {
    /// The declarations of buffers, as arrays of words, which the shader interprets.
    fn declarations(&self) -> String {
        let binding = "@group(0) @binding(0) var<storage, read>";
        let mut text = match self.params_are {
            Parameters::Numbered => format!("{binding} params: array<u32, {}>;\n", self.params.len()),
            Parameters::Named => format!("{binding} p: Params;\n"),
        };
        for input in 0..self.inputs.len() {
            let binding = input + 1;
            text += &format!("@group(0) @binding({binding}) var<storage, read> in{input}: array<u32>;\n");
        }
        for result in 0..self.results.len() {
            let (binding, name) = (self.inputs.len() + result + 1, result_name(result));
            text += &format!("@group(0) @binding({binding}) var<storage, read_write> {name}: array<u32>;\n");
        }
        text + COMMON
    }

    /// The layout of all buffers, including those that the shader does not use.
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

/// The name of a result in a shader.
pub(crate) fn result_name(number: usize) -> String {
    if number == 0 { "result".to_owned() } else { format!("result{number}") }
}

/// The number of the thread and of the workgroup, and functions that every shader has.
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
