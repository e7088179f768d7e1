#!/usr/bin/env bash
# Greets somebody: greet.sh NAME
echo "Hello, $1"
