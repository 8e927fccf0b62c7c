a 'r0 |u u0 |i i0:1.0 w0
b 'r1 |u u2 |i i4:1.5 w1
c 'r2 |u u4 |i i1:2.0 w2
a 'r3 |u u1 |i i5:1.0 w0
b 'r4 |u u3 |i i2:1.5 w1

c 'r5 |u u0 |i i6:2.0 w2
a 'r6 |u u2 |i i3:1.0 w0
b 'r7 |u u4 |i i0:1.5 w1
c 'r8 |u u1 |i i4:2.0 w2
a 'r9 |u u3 |i i1:1.0 w0

b 'r10 |u u0 |i i5:1.5 w1
c 'r11 |u u2 |i i2:2.0 w2
a 'r12 |u u4 |i i6:1.0 w0
b 'r13 |u u1 |i i3:1.5 w1
c 'r14 |u u3 |i i0:2.0 w2

a 'r15 |u u0 |i i4:1.0 w0
b 'r16 |u u2 |i i1:1.5 w1
c 'r17 |u u4 |i i5:2.0 w2
a 'r18 |u u1 |i i2:1.0 w0
b 'r19 |u u3 |i i6:1.5 w1

c 'r20 |u u0 |i i3:2.0 w2
a 'r21 |u u2 |i i0:1.0 w0
b 'r22 |u u4 |i i4:1.5 w1
c 'r23 |u u1 |i i1:2.0 w2
a 'r24 |u u3 |i i5:1.0 w0

b 'r25 |u u0 |i i2:1.5 w1
c 'r26 |u u2 |i i6:2.0 w2
a 'r27 |u u4 |i i3:1.0 w0
b 'r28 |u u1 |i i0:1.5 w1
c 'r29 |u u3 |i i4:2.0 w2

a 'r30 |u u0 |i i1:1.0 w0
b 'r31 |u u2 |i i5:1.5 w1
c 'r32 |u u4 |i i2:2.0 w2
a 'r33 |u u1 |i i6:1.0 w0
b 'r34 |u u3 |i i3:1.5 w1

c 'r35 |u u0 |i i0:2.0 w2
a 'r36 |u u2 |i i4:1.0 w0
b 'r37 |u u4 |i i1:1.5 w1
c 'r38 |u u1 |i i5:2.0 w2
a 'r39 |u u3 |i i2:1.0 w0

b 'r40 |u u0 |i i6:1.5 w1
c 'r41 |u u2 |i i3:2.0 w2
a 'r42 |u u4 |i i0:1.0 w0
b 'r43 |u u1 |i i4:1.5 w1
c 'r44 |u u3 |i i1:2.0 w2

a 'r45 |u u0 |i i5:1.0 w0
b 'r46 |u u2 |i i2:1.5 w1
c 'r47 |u u4 |i i6:2.0 w2
a 'r48 |u u1 |i i3:1.0 w0
b 'r49 |u u3 |i i0:1.5 w1

c 'r50 |u u0 |i i4:2.0 w2
a 'r51 |u u2 |i i1:1.0 w0
b 'r52 |u u4 |i i5:1.5 w1
c 'r53 |u u1 |i i2:2.0 w2
a 'r54 |u u3 |i i6:1.0 w0

b 'r55 |u u0 |i i3:1.5 w1
c 'r56 |u u2 |i i0:2.0 w2
a 'r57 |u u4 |i i4:1.0 w0
b 'r58 |u u1 |i i1:1.5 w1
c 'r59 |u u3 |i i5:2.0 w2

