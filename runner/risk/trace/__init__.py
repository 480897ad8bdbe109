"""Following values through a program and into the code it starts."""
