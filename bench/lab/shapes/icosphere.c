#include "bench/lab/shapes/icosphere.h"

#include <math.h>
#include <stdint.h>

static const uint8_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                     {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                     {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                     {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};

/* One face that is cut into small triangles. */
typedef struct cut_face {
    const uint8_t *corners; /* [3] */
    int frequency;
    double radius; /* m */
} cut_face;

/* Computes a vertex: the corners with the weights i, j and the rest, moved to the sphere. Corners
 * are added in the order of their numbers, so that both faces of an edge get the same bits. */
static void vertex_of(const cut_face *face, int i, int j, float out[3])
{
    static const double golden = 1.61803398874989485;
    static const double corners[12][3] = {{-1, golden, 0},  {1, golden, 0},   {-1, -golden, 0},
                                          {1, -golden, 0},  {0, -1, golden},  {0, 1, golden},
                                          {0, -1, -golden}, {0, 1, -golden},  {golden, 0, -1},
                                          {golden, 0, 1},   {-golden, 0, -1}, {-golden, 0, 1}};
    const int weights[3] = {face->frequency - i - j, i, j};
    double sum[3] = {0, 0, 0}, square = 0;
    for (uint8_t corner = 0; corner < 12; ++corner) {
        for (int k = 0; k < 3; ++k) {
            for (int axis = 0; face->corners[k] == corner && axis < 3; ++axis) {
                sum[axis] += weights[k] * corners[corner][axis];
            }
        }
    }
    for (int axis = 0; axis < 3; ++axis) {
        square += sum[axis] * sum[axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        out[axis] = (float)(face->radius * sum[axis] / sqrt(square));
    }
}

static void write_triangle(const cut_face *face, const int at[3][2], FILE *out)
{
    const uint16_t attributes = 0;
    float numbers[4][3] = {{0, 0, 0}}; /* the normal, which readers compute */
    for (int corner = 0; corner < 3; ++corner) {
        vertex_of(face, at[corner][0], at[corner][1], numbers[1 + corner]);
    }
    fwrite(numbers, sizeof numbers, 1, out);
    fwrite(&attributes, sizeof attributes, 1, out);
}

void ics_icosphere_write(double radius, int frequency, FILE *out)
{
    const char head[80] = "icosphere";
    const uint32_t count = 20 * (uint32_t)frequency * (uint32_t)frequency;
    fwrite(head, sizeof head, 1, out);
    fwrite(&count, sizeof count, 1, out);
    for (int f = 0; f < 20; ++f) {
        const cut_face face = {faces[f], frequency, radius};
        for (int i = 0; i < frequency; ++i) {
            for (int j = 0; j < frequency - i; ++j) {
                const int one[3][2] = {{i, j}, {i + 1, j}, {i, j + 1}};
                const int other[3][2] = {{i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
                write_triangle(&face, one, out);
                if (i + j + 1 < frequency) {
                    write_triangle(&face, other, out);
                }
            }
        }
    }
}
