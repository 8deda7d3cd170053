"""The messages of Caffe model files, with the required fields of caffe.proto."""

from types import SimpleNamespace

from chainer.links.caffe import _protobuf

_MESSAGES = """
NetParameter 1:name:string 2:layers:V1LayerParameter* 100:layer:LayerParameter*
BlobShape 1:dim:int*
BlobProto 1:num:int 2:channels:int 3:height:int 4:width:int 5:data:float* 7:shape:BlobShape \
8:double_data:double*
LayerParameter 1:name:string 2:type:string 3:bottom:string* 4:top:string* 7:blobs:BlobProto* \
10:phase:int 101:loss_param:LossParameter 104:concat_param:ConcatParameter \
106:convolution_param:ConvolutionParameter 108:dropout_param:DropoutParameter \
110:eltwise_param:EltwiseParameter 117:inner_product_param:InnerProductParameter \
118:lrn_param:LRNParameter 121:pooling_param:PoolingParameter 123:relu_param:ReLUParameter \
125:softmax_param:SoftmaxParameter 126:slice_param:SliceParameter \
133:reshape_param:ReshapeParameter 139:batch_norm_param:BatchNormParameter \
142:scale_param:ScaleParameter 143:input_param:InputParameter
V1LayerParameter 2:bottom:string* 3:top:string* 4:name:string 5:type:int 6:blobs:BlobProto* \
9:concat_param:ConcatParameter 10:convolution_param:ConvolutionParameter \
12:dropout_param:DropoutParameter 17:inner_product_param:InnerProductParameter \
18:lrn_param:LRNParameter 19:pooling_param:PoolingParameter 24:eltwise_param:EltwiseParameter \
30:relu_param:ReLUParameter 31:slice_param:SliceParameter 39:softmax_param:SoftmaxParameter \
42:loss_param:LossParameter
LossParameter 1:ignore_label:int 2:normalize:bool
ConcatParameter 1:concat_dim:int=1 2:axis:int=1
ConvolutionParameter 1:num_output:int 2:bias_term:bool=true 3:pad:int* 4:kernel_size:int* \
5:group:int=1 6:stride:int* 9:pad_h:int 10:pad_w:int 11:kernel_h:int 12:kernel_w:int \
13:stride_h:int 14:stride_w:int 18:dilation:int*
DropoutParameter 1:dropout_ratio:float=0.5
EltwiseParameter 1:operation:int=1 2:coeff:float*
InnerProductParameter 1:num_output:int 2:bias_term:bool=true 5:axis:int=1 6:transpose:bool
LRNParameter 1:local_size:int=5 2:alpha:float=1 3:beta:float=0.75 4:norm_region:int 5:k:float=1
PoolingParameter 1:pool:int 2:kernel_size:int 3:stride:int=1 4:pad:int 5:kernel_h:int \
6:kernel_w:int 7:stride_h:int 8:stride_w:int 9:pad_h:int 10:pad_w:int 12:global_pooling:bool
ReLUParameter 1:negative_slope:float
SoftmaxParameter 2:axis:int=1
SliceParameter 1:slice_dim:int=1 2:slice_point:int* 3:axis:int=1
ReshapeParameter 1:shape:BlobShape 2:axis:int 3:num_axes:int=-1
BatchNormParameter 1:use_global_stats:bool 2:moving_average_fraction:float=0.999 \
3:eps:float=1e-5
ScaleParameter 1:axis:int=1 2:num_axes:int=1 4:bias_term:bool
InputParameter 1:shape:BlobShape*
"""

# Layer type numbers in files of Caffe's first version.
OLD_LAYER_TYPES = {
    'NONE': 0,
    'ACCURACY': 1,
    'BNLL': 2,
    'CONCAT': 3,
    'CONVOLUTION': 4,
    'DATA': 5,
    'DROPOUT': 6,
    'EUCLIDEAN_LOSS': 7,
    'FLATTEN': 8,
    'HDF5_DATA': 9,
    'HDF5_OUTPUT': 10,
    'IM2COL': 11,
    'IMAGE_DATA': 12,
    'INFOGAIN_LOSS': 13,
    'INNER_PRODUCT': 14,
    'LRN': 15,
    'MULTINOMIAL_LOGISTIC_LOSS': 16,
    'POOLING': 17,
    'RELU': 18,
    'SIGMOID': 19,
    'SOFTMAX': 20,
    'SOFTMAX_LOSS': 21,
    'SPLIT': 22,
    'TANH': 23,
    'WINDOW_DATA': 24,
    'ELTWISE': 25,
    'POWER': 26,
    'SIGMOID_CROSS_ENTROPY_LOSS': 27,
    'HINGE_LOSS': 28,
    'MEMORY_DATA': 29,
    'ARGMAX': 30,
    'THRESHOLD': 31,
    'DUMMY_DATA': 32,
    'SLICE': 33,
    'MVN': 34,
    'ABSVAL': 35,
    'SILENCE': 36,
    'CONTRASTIVE_LOSS': 37,
    'EXP': 38,
    'DECONVOLUTION': 39,
}

_CONSTANTS = {
    'EltwiseParameter': {'PROD': 0, 'SUM': 1, 'MAX': 2},
    'LRNParameter': {'ACROSS_CHANNELS': 0, 'WITHIN_CHANNEL': 1},
    'V1LayerParameter': OLD_LAYER_TYPES,
    'PoolingParameter': {'MAX': 0, 'AVE': 1, 'STOCHASTIC': 2},
}

#: The classes of messages by name, as in the module that protoc makes of caffe.proto.
caffe_pb = SimpleNamespace(**_protobuf.Schema(_MESSAGES, _CONSTANTS).classes)
