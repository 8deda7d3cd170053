#pragma once

// Made by tools/make_polynomials.py; not to be edited.

#include "chainerx/core/macro.h"

namespace chainerx::math {

// (exp(r) - 1 - r) / r^2, |r| <= log(2) / 2; error 6.8e-8
CHAINERX_INLINE float ExpPolynomial(float x) {
    float y = 1.392692661e-3F;
    y = y * x + 8.363773874e-3F;
    y = y * x + 4.166655011e-2F;
    y = y * x + 0.1666657338F;
    y = y * x + 0.5000000000F;
    return y;
}

// (exp(r) - 1 - r) / r^2, |r| <= log(2) / 2; error 1.6e-18
CHAINERX_INLINE double ExpPolynomial(double x) {
    double y = 2.09154422977801152e-9;
    y = y * x + 2.51062747335732947e-8;
    y = y * x + 2.75572718102197996e-7;
    y = y * x + 2.75572528335169097e-6;
    y = y * x + 2.48015873270071867e-5;
    y = y * x + 1.98412698768643549e-4;
    y = y * x + 1.38888888888833267e-3;
    y = y * x + 8.33333333332554470e-3;
    y = y * x + 4.16666666666666701e-2;
    y = y * x + 0.166666666666666714;
    y = y * x + 0.500000000000000000;
    return y;
}

// (2^r - 1) / r, |r| <= 1/2; error 8.3e-9
CHAINERX_INLINE float Exp2Polynomial(float x) {
    float y = 1.545416209e-4F;
    y = y * x + 1.339201741e-3F;
    y = y * x + 9.618080665e-3F;
    y = y * x + 5.550354929e-2F;
    y = y * x + 0.2402265076F;
    y = y * x + 0.6931471885F;
    return y;
}

// (2^r - 1) / r, |r| <= 1/2; error 1.9e-19
CHAINERX_INLINE double Exp2Polynomial(double x) {
    double y = 2.57303480092343516e-11;
    y = y * x + 4.45602475513346413e-10;
    y = y * x + 7.05489672247035183e-9;
    y = y * x + 1.01780559125461686e-7;
    y = y * x + 1.32154868098480021e-6;
    y = y * x + 1.52527338438648551e-5;
    y = y * x + 1.54035303933698319e-4;
    y = y * x + 1.33335581464046493e-3;
    y = y * x + 9.61812910762847974e-3;
    y = y * x + 5.55041086648216320e-2;
    y = y * x + 0.240226506959100712;
    y = y * x + 0.693147180559945309;
    return y;
}

// (log(1 + f) - f + f^2 / 2) / f^3, sqrt(1/2) <= 1 + f <= sqrt(2); error 1.8e-7
CHAINERX_INLINE float LogPolynomial(float x) {
    float y = -7.902743772e-2F;
    y = y * x + 0.1262231985F;
    y = y * x - 0.1299818376F;
    y = y * x + 0.1421449592F;
    y = y * x - 0.1664128146F;
    y = y * x + 0.2000104509F;
    y = y * x - 0.2500030642F;
    y = y * x + 0.3333333073F;
    return y;
}

// (log((1 + s) / (1 - s)) - 2 s) / s^3 of s^2, s = f / (2 + f); error 2.2e-18
CHAINERX_INLINE double LogRatioPolynomial(double x) {
    double y = 0.130944166665253440;
    y = y * x + 0.132680261404287393;
    y = y * x + 0.153862676728822250;
    y = y * x + 0.181817951244767535;
    y = y * x + 0.222222223965529808;
    y = y * x + 0.285714285707822077;
    y = y * x + 0.400000000000009120;
    y = y * x + 0.666666666666666665;
    return y;
}

// log2(1 + f) / f; error 7.8e-9
CHAINERX_INLINE float Log2Polynomial(float x) {
    float y = -0.1074978942F;
    y = y * x + 0.1847603337F;
    y = y * x - 0.1913883766F;
    y = y * x + 0.2048576478F;
    y = y * x - 0.2396081219F;
    y = y * x + 0.2885525614F;
    y = y * x - 0.3606965418F;
    y = y * x + 0.4808985203F;
    y = y * x - 0.7213473545F;
    y = y * x + 1.442695040F;
    return y;
}

// log10(1 + f) / f; error 2.3e-9
CHAINERX_INLINE float Log10Polynomial(float x) {
    float y = -3.236009062e-2F;
    y = y * x + 5.561840244e-2F;
    y = y * x - 5.761364217e-2F;
    y = y * x + 6.166829682e-2F;
    y = y * x - 7.212923190e-2F;
    y = y * x + 8.686297632e-2F;
    y = y * x - 0.1085804784F;
    y = y * x + 0.1447648795F;
    y = y * x - 0.2171471910F;
    y = y * x + 0.4342944816F;
    return y;
}

// (log2((1 + s) / (1 - s)) / s - c - c s^2 / 3) / s^4 of s^2 <= 1/81, c = 2 / log(2); error 6.2e-6
CHAINERX_INLINE float PowLogPolynomial(float x) {
    float y = 0.4161933029F;
    y = y * x + 0.5770718417F;
    return y;
}

// (log2((1 + s) / (1 - s)) / s - c - c s^2 / 3) / s^4 of s^2 <= 1/81, c = 2 / log(2); error 3.1e-16
CHAINERX_INLINE double PowLogPolynomial(double x) {
    double y = 0.198780314284496896;
    y = y * x + 0.221863271351813692;
    y = y * x + 0.262308766190690968;
    y = y * x + 0.320598896302612200;
    y = y * x + 0.412198583112904495;
    y = y * x + 0.577078016355585059;
    return y;
}

// (sin(r) - r) / r^3 of r^2, |r| <= pi / 4; error 2.1e-8
CHAINERX_INLINE float SinPolynomial(float x) {
    float y = -1.958537321e-4F;
    y = y * x + 8.332736559e-3F;
    y = y * x - 0.1666666460F;
    return y;
}

// (sin(r) - r) / r^3 of r^2, |r| <= pi / 4; error 2.2e-17
CHAINERX_INLINE double SinPolynomial(double x) {
    double y = 1.59167261938893374e-10;
    y = y * x - 2.50511122725732437e-8;
    y = y * x + 2.75573160081715511e-6;
    y = y * x - 1.98412698365757090e-4;
    y = y * x + 8.33333333333082700e-3;
    y = y * x - 0.166666666666666645;
    return y;
}

// (cos(r) - 1 + r^2 / 2) / r^4 of r^2, |r| <= pi / 4; error 2.1e-9
CHAINERX_INLINE float CosPolynomial(float x) {
    float y = 2.454541908e-5F;
    y = y * x - 1.388829130e-3F;
    y = y * x + 4.166666460e-2F;
    return y;
}

// (cos(r) - 1 + r^2 / 2) / r^4 of r^2, |r| <= pi / 4; error 1.4e-18
CHAINERX_INLINE double CosPolynomial(double x) {
    double y = -1.13817546536629368e-11;
    y = y * x + 2.08761340240901462e-9;
    y = y * x - 2.75573172126865901e-7;
    y = y * x + 2.48015872986512916e-5;
    y = y * x - 1.38888888888873212e-3;
    y = y * x + 4.16666666666666653e-2;
    return y;
}

// (asin(x) - x) / x^3 of x^2, |x| <= 1/2; error 7.2e-8
CHAINERX_INLINE float AsinPolynomial(float x) {
    float y = 3.808502356e-2F;
    y = y * x + 2.655454221e-2F;
    y = y * x + 4.500138007e-2F;
    y = y * x + 7.498855073e-2F;
    y = y * x + 0.1666667241F;
    return y;
}

// (asin(x) - x) / x^3 of x^2, |x| <= 1/2; error 1.5e-17
CHAINERX_INLINE double AsinPolynomial(double x) {
    double y = 2.87578513674215647e-2;
    y = y * x - 1.48518870712472032e-2;
    y = y * x + 1.74008794426940224e-2;
    y = y * x + 5.45750671864035830e-3;
    y = y * x + 1.03228143501857793e-2;
    y = y * x + 1.14791774151849059e-2;
    y = y * x + 1.39712129735529333e-2;
    y = y * x + 1.73523927208699729e-2;
    y = y * x + 2.23721729421498879e-2;
    y = y * x + 3.03819441385312473e-2;
    y = y * x + 4.46428571463554298e-2;
    y = y * x + 7.49999999999843293e-2;
    y = y * x + 0.166666666666666678;
    return y;
}

// (atan(x) - x) / x^3 of x^2, |x| <= tan(pi / 8); error 4.6e-7
CHAINERX_INLINE float AtanPolynomial(float x) {
    float y = 8.520492036e-2F;
    y = y * x - 0.1402414284F;
    y = y * x + 0.1999123774F;
    y = y * x - 0.3333328656F;
    return y;
}

// (atan(x) - x) / x^3 of x^2, |x| <= tan(pi / 8); error 1.2e-18
CHAINERX_INLINE double AtanPolynomial(double x) {
    double y = 1.62857568552210283e-2;
    y = y * x - 3.45705619814277469e-2;
    y = y * x + 4.55159322062654917e-2;
    y = y * x - 5.23045427065024452e-2;
    y = y * x + 5.87892899783477513e-2;
    y = y * x - 6.66642488573825533e-2;
    y = y * x + 7.69229637503214240e-2;
    y = y * x - 9.09090875350087684e-2;
    y = y * x + 0.111111111051554466;
    y = y * x - 0.142857142856598276;
    y = y * x + 0.199999999999998045;
    y = y * x - 0.333333333333333332;
    return y;
}

// erf(x) / x of x^2, |x| <= 1; error 4.1e-8
CHAINERX_INLINE float ErfPolynomial(float x) {
    float y = -5.648059866e-4F;
    y = y * x + 4.921762028e-3F;
    y = y * x - 2.671505423e-2F;
    y = y * x + 0.1128031665F;
    y = y * x - 0.3761234378F;
    y = y * x + 1.128379126F;
    return y;
}

// erf(x) / x of x^2, |x| <= 1; error 7.4e-18
CHAINERX_INLINE double ErfPolynomial(double x) {
    double y = -7.79589882700214224e-10;
    y = y * x + 1.37200645467776856e-8;
    y = y * x - 1.62084838018717059e-7;
    y = y * x + 1.64474247033173624e-6;
    y = y * x - 1.49247369074196603e-5;
    y = y * x + 1.20552949048397079e-4;
    y = y * x - 8.54832597538969208e-4;
    y = y * x + 5.22397760711642273e-3;
    y = y * x - 2.68661706432377704e-2;
    y = y * x + 0.112837916709450063;
    y = y * x - 0.376126389031835404;
    y = y * x + 1.12837916709551257;
    return y;
}

// (1 + 2 x) exp(x^2) erfc(x) of t = (x - 4) / (x + 4), x >= 0; error 1.5e-9
CHAINERX_INLINE float ErfcxPolynomial(float x) {
    float y = -9.407571981e-6F;
    y = y * x + 1.141793191e-4F;
    y = y * x - 2.178550546e-4F;
    y = y * x - 7.090462731e-4F;
    y = y * x + 5.044031828e-3F;
    y = y * x - 1.623048925e-2F;
    y = y * x + 3.716340921e-2F;
    y = y * x - 6.631899370e-2F;
    y = y * x + 9.373350870e-2F;
    y = y * x - 0.1010409526F;
    y = y * x + 6.809701248e-2F;
    y = y * x + 1.537976973e-2F;
    y = y * x - 0.1396211164F;
    y = y * x + 1.232995117F;
    return y;
}

// (1 + 2 x) exp(x^2) erfc(x) of t = (x - 4) / (x + 4), x >= 0; error 1.0e-17
CHAINERX_INLINE double ErfcxPolynomial(double x) {
    double y = -2.76412023373457802e-10;
    y = y * x + 9.29762526370965970e-10;
    y = y * x + 3.23239734450820326e-9;
    y = y * x - 1.23387314037984437e-8;
    y = y * x - 2.07258024881819618e-8;
    y = y * x + 1.06318175938181482e-7;
    y = y * x + 7.77194324108691282e-8;
    y = y * x - 8.21064793329733634e-7;
    y = y * x + 2.91734255730897332e-7;
    y = y * x + 5.70657829924074054e-6;
    y = y * x - 1.12211356659659071e-5;
    y = y * x - 2.43977311430232924e-5;
    y = y * x + 1.50621426086519447e-4;
    y = y * x - 1.99257152472651783e-4;
    y = y * x - 7.57773243594257611e-4;
    y = y * x + 5.03197006910225580e-3;
    y = y * x - 1.61977340629347706e-2;
    y = y * x + 3.71675155263380036e-2;
    y = y * x - 6.63303658118605825e-2;
    y = y * x + 9.37328349991126395e-2;
    y = y * x - 0.101039066036318116;
    y = y * x + 6.80970542546683824e-2;
    y = y * x + 1.53796521026199743e-2;
    y = y * x - 0.139621116840562284;
    y = y * x + 1.23299511862555251;
    return y;
}

// (a + 2) Phi(-a) exp(a^2 / 2) of a / (a + 2), 0 <= a <= 16; error 2.7e-9
CHAINERX_INLINE float MillsPolynomial(float x) {
    float y = -0.1372581053F;
    y = y * x + 0.5998243139F;
    y = y * x - 1.043096984F;
    y = y * x + 0.9917973834F;
    y = y * x - 0.6403172640F;
    y = y * x + 0.2350268407F;
    y = y * x - 1.990262055e-2F;
    y = y * x + 0.1160579937F;
    y = y * x + 8.407420331e-2F;
    y = y * x - 0.1914937350F;
    y = y * x - 0.5957699555F;
    y = y * x + 1.000000003F;
    return y;
}

// (a + 3) Phi(-a) exp(a^2 / 2) of a / (a + 3), 0 <= a <= 42; error 1.7e-17
CHAINERX_INLINE double MillsPolynomial(double x) {
    double y = -1.54162294159278794e-2;
    y = y * x + 0.133732652223821047;
    y = y * x - 0.512774470390663542;
    y = y * x + 1.12955138962726069;
    y = y * x - 1.52253333032209079;
    y = y * x + 1.12051416130671398;
    y = y * x + 4.92349938171554822e-2;
    y = y * x - 1.25501712828366120;
    y = y * x + 1.77569579737220072;
    y = y * x - 1.53864906982051642;
    y = y * x + 0.966190204631717747;
    y = y * x - 0.455930463953310878;
    y = y * x + 0.172087735049324040;
    y = y * x - 5.57011811642465407e-2;
    y = y * x - 3.17409350983332102e-3;
    y = y * x - 1.33822751897200897e-2;
    y = y * x + 1.77531730718890665e-2;
    y = y * x + 5.87181387166541526e-2;
    y = y * x + 4.04686319173374838e-2;
    y = y * x - 0.117913268964464579;
    y = y * x - 0.260188373719345787;
    y = y * x + 0.207116858233979395;
    y = y * x + 1.06903895277522643;
    y = y * x - 2.09048052361289869;
    y = y * x + 1.50000000000000000;
    return y;
}

}  // namespace chainerx::math
